package coll

// scatterLinear is Scatterv too.
var scatterLinear = Algorithm{"linear", within, func(s *Shape) Plan {
	var d draft
	if s.Rank != s.Root {
		d.recv(s.Root, Ref{Out, 0, s.Count})
		return d.end()
	}
	in := s.blocks(In)
	for i := 1; i < s.Size; i++ {
		d.send(s.right(i), in.at(s.right(i)))
	}
	if own := in.at(s.Root); !s.InPlace {
		d.move(own, Ref{Out, 0, own.N})
	}
	return d.end()
}}
