//go:build bugs

package pin

import "github.com/weft-mpi/weft/internal/testkit/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// A device writes to memory that is somebody else's by now.
	{"what is freed stays registered", "fabric/verbs/internal/pin/arena.go",
		"\tif !r.shut {\n\t\tr.forget(uint64(start))\n\t}\n", "", "TestMemoryOfAnArena"},
	{"memory that was freed unnoticed keeps its key", "fabric/verbs/internal/pin/arena.go",
		"if e.serial == serial {", "if e.serial <= serial {", "TestMemoryOfAnArena"},
	{"what lies beyond an allocation is its", "fabric/verbs/internal/pin/arena.go",
		"if !ok || addr+uint64(len(b)) > uint64(start+size) {", "if !ok {", "TestMemoryAcrossTheEnd"},
	{"a buffer that is dead is found", "fabric/verbs/internal/pin/cache.go",
		"if e.buffer != weak.Make(&b[0]) || e.n < len(b) {", "if e.n < len(b) {", "TestARegistrationDoesNotOutlive"},
	{"a longer buffer is found", "fabric/verbs/internal/pin/cache.go",
		"if e.buffer != weak.Make(&b[0]) || e.n < len(b) {", "if e.buffer != weak.Make(&b[0]) {", "TestALongerBuffer"},
	{"memory that peers write to is kept", "fabric/verbs/internal/pin/cache.go",
		"a&(fabric.RemoteWrite|fabric.RemoteAtomic) == 0", "a&fabric.RemoteAtomic == 0", "TestMemoryThatPeersWrite"},
	{"a registration that somebody holds is evicted", "fabric/verbs/internal/pin/cache.go",
		"\tif g.refs == 0 {\n\t\tg.mem = e.buffer.Value()", "\tif g.refs >= 0 {\n\t\tg.mem = e.buffer.Value()", "TestALongerBuffer"},
	{"a handle is good for the next registration", "fabric/verbs/internal/pin/regions.go",
		"e.gen == uint32(handle>>32) && e.refs > 0", "e.refs > 0", "TestAHandle"},
	{"what was found last is found when it has ended", "fabric/verbs/internal/pin/regions.go",
		"return c.handle == handle && c.ended == r.ended.Load()", "return c.handle == handle", "TestAHandle"},
	{"a region ends one byte late", "fabric/verbs/internal/pin/regions.go",
		"start+n <= c.end }", "start+n <= c.end+1 }", "TestALongerBuffer"},
	// What can't be pinned could be, if nothing idle were.
	{"idle registrations stay", "fabric/verbs/internal/pin/regions.go",
		"\t\tr.cache.empty(r) // what", "\t\t// what", "TestIdleRegistrations"},
	// A peer's mistake ends the connection.
	{"a key permits everything", "fabric/verbs/internal/pin/key.go", "return purpose(key)&a == a", "return purpose(key)|a != 0", "TestKeysOfOthers"},
	{"the tag of a key leaves out what it is for", "fabric/verbs/internal/pin/key.go",
		"x := v ^ s[0]", "x := uint64(rkey) ^ s[0]", "TestKeysOfOthers"},
	{"an entry of another memory is taken", "fabric/verbs/internal/pin/ports.go",
		"keys[0] == rkey && le", "le", "TestAnEntryOfKeys"},
}
