package coll

// scanDoubling: a rank has the sum of its own operand and those of the 1, 3, 7 …
// ranks before it. It gives that to the rank as far after it. A rank that has the
// operands of all before it only sends.
var scanDoubling = Algorithm{"doubling", within, func(s *Shape) Plan {
	var d draft
	f := fold{draft: &d, mine: s.input(s.Count), out: Ref{Out, 0, s.Count}}
	for m := 1; m < s.Size; m *= 2 {
		if s.Rank+m < s.Size {
			d.send(s.Rank+m, f.mine)
		}
		if s.Rank >= m {
			f.add(s.Rank-m, true)
		}
	}
	d.move(f.mine, f.out)
	return d.end()
}}
