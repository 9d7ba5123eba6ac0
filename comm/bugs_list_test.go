//go:build bugs

package comm

// bugs are the mistakes that TestPlantedBugs makes, one at a time.
var bugs = []bug{
	{"a flag is raised after the look", "comm/flags.go",
		"\t\tif !f.raised {\n", "\t\tif !f.raised && f.look(r) {\n", 1000},
	{"Knock comes before the store", "comm/flags.go",
		"\t\t\tmembar.StoreRelease(r.flag, f.mine.base+f.number)\n", "\t\t\tdefer membar.StoreRelease(r.flag, f.mine.base+f.number)\n", 1000},
	{"nobody Knocks", "comm/flags.go",
		"\t\t\t\tr.lookers[i].ep.Knock(false)\n", "\t\t\t\t_ = i\n", 1000},
	{"the last of those that look is not knocked at", "comm/flags.go",
		"for i := range r.lookers {\n\t\t\t\tr.lookers", "for i := range r.lookers[1:] {\n\t\t\t\tr.lookers", 1000},
	{"a flag used again begins at 0", "comm/flags.go",
		"\tf.mine.base += f.number\n", "", 1000},
	{"a flag's value before the first barrier counts", "comm/flags.go",
		"atomic.LoadUint64(s.flag)-s.base < f.number", "atomic.LoadUint64(s.flag) < f.number", 1000},
	{"every barrier has the same number", "comm/flags.go",
		"\tf.number++\n", "\tf.number = 1\n", 1000},
	{"a round leaves a rank out", "comm/flags.go",
		"for i := 1; i < radix && i*dist < size; i++ {", "for i := 1; i < radix-1 && i*dist < size; i++ {", 1000},
	{"one flag is enough", "comm/flags.go",
		"for ; f.next < len(r.sources); f.next++ {", "for ; f.next < 1; f.next++ {", 1000},
	{"a death does not end a barrier", "comm/flags.go",
		"\tif err := f.in.P2P.Dead(); err != nil {\n\t\treturn err\n\t}\n\treturn f.in.Loop.Conn", "\treturn nil\n\treturn f.in.Loop.Conn", 1000},
	{"only the death of a rank that is looked at ends a barrier", "comm/flags.go",
		"\tif err := f.in.P2P.Dead(); err != nil {\n\t\treturn err\n\t}\n\treturn f.in.Loop.Conn", "\treturn f.in.Loop.Conn", 1000},
	{"flags are used where the connection does not stand", "comm/flags.go",
		"\t\t\tcase err == fabric.ErrAgain:\n\t\t\t\treturn false, nil\n", "", 1000},
	{"the last flag of a round is not found", "comm/flags.go",
		"\t\tfor i := range r.sources {\n\t\t\ts, k :=", "\t\tfor i := range r.sources[1:] {\n\t\t\ts, k :=", 1000},
}
