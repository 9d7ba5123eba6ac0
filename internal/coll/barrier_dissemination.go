package coll

// barrierDissemination: after the round of distance m a rank has heard, directly or
// not, of the 2m-1 ranks before it.
var barrierDissemination = Algorithm{"dissemination", within, func(s *Shape) Plan {
	var d draft
	for m := 1; m < s.Size; m *= 2 {
		d.signal(s.right(m))
		d.await(s.left(m))
		d.wait()
	}
	return d.end()
}}
