package ulfm

// A Revocation is one rank's part in the spread of a communicator's revocation. A rank
// that hears of it tells the ranks behind it at the distances 1, 2, 4 and so on among
// those that it thinks alive, and after each death those that take their places. So each
// survivor's next living rank hears of it in the end, whatever others have died with.
type Revocation struct {
	rank, size int
	send       func(to int)

	dead    Set
	told    Set // whom this rank has told
	revoked bool
}

// NewRevocation returns the part of a rank in a communicator of size ranks that nobody has
// revoked yet, as far as it knows. send tells another rank.
func NewRevocation(rank, size int, send func(to int)) *Revocation {
	return &Revocation{rank: rank, size: size, send: send}
}

// Revoked reports whether this rank knows that the communicator is revoked.
func (v *Revocation) Revoked() bool { return v.revoked }

// Revoke is called when this rank revokes the communicator, and when another tells it. It
// reports whether that is news.
func (v *Revocation) Revoke() (news bool) {
	if v.revoked {
		return false
	}
	v.revoked = true
	v.flood()
	return true
}

// Down says that a rank has died.
func (v *Revocation) Down(rank int) {
	v.dead = v.dead.With(rank)
	if v.revoked {
		v.flood()
	}
}

func (v *Revocation) flood() {
	living, next := 0, 1 // the ranks behind this one
	for i := 1; i < v.size; i++ {
		r := (v.rank + i) % v.size
		if v.dead.Has(r) {
			continue
		}
		if living++; living < next {
			continue
		}
		if next *= 2; !v.told.Has(r) {
			v.told = v.told.With(r)
			v.send(r)
		}
	}
}
