package coll

// gatherLinear is Gatherv too: the root alone knows where blocks go, and how long
// they are.
var gatherLinear = Algorithm{"linear", within, func(s *Shape) Plan {
	var d draft
	if s.Rank != s.Root {
		d.send(s.Root, Ref{In, 0, s.Count})
		return d.end()
	}
	out := s.blocks(Out)
	for i := range s.Size {
		if i != s.Root {
			d.recv(i, out.at(i))
		}
	}
	if own := out.at(s.Root); !s.InPlace {
		d.move(Ref{In, 0, own.N}, own)
	}
	return d.end()
}}
