package timeline

// Clock turns the times of a rank into those of the job: CLOCK_MONOTONIC of the host of
// rank 0. It is known at one or two times of Now, between and beyond which it is a line.
type Clock struct {
	At, Add [2]int64 // Add is what is added to Now at a time At of Now
	Within  int64    // bound of the error at those times, in nanoseconds
}

// Same is the clock of a rank on the host of rank 0.
func Same() Clock {
	add, within := Monotonic()
	return Clock{Add: [2]int64{add, add}, Within: within}
}

// To turns a time of Now into one of the job.
func (c Clock) To(t int64) int64 {
	span := c.At[1] - c.At[0]
	if span <= 0 {
		return t + c.Add[1]
	}
	drift := float64(c.Add[1]-c.Add[0]) / float64(span)
	return t + c.Add[0] + int64(drift*float64(t-c.At[0]))
}

// Reading is a comparison of this rank's clock with that of rank 0: the latter was Theirs
// between Asked and Heard of Now.
type Reading struct{ Asked, Heard, Theirs int64 }

// Best is what a set of readings says: what is to be added to Now, at the time at of Now,
// and by how much that may be wrong, which is half of the shortest round trip. Without
// readings ok is false.
func Best(all []Reading) (at, add, within int64, ok bool) {
	for i, r := range all {
		if width := r.Heard - r.Asked; i == 0 || (width+1)/2 < within {
			at, within = r.Asked+width/2, (width+1)/2
			add = r.Theirs - at
		}
	}
	return at, add, within, len(all) > 0
}
