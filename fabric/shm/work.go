package shm

import "sync/atomic"

// work moves one block of a peer's transfer that this rank helps with, and one
// of its own. It returns false if all of its own wait for their helpers, which
// ring when they are done.
func (d *Domain) work() bool {
	helped := d.workForPeers()
	return d.workForUs() || helped
}

func (d *Domain) workForPeers() bool {
	worked := false
	for i := 0; i < min(len(d.helps), lead); {
		j := d.helps[i]
		switch {
		case j.copied < j.blocks/2:
			d.helpWith(i)
			return true
		case j.claimed():
			j.answer(coopAnswered)
			d.endHelp(i)
			worked = true
		default:
			i++
		}
	}
	if len(d.helps) > 0 {
		d.helpWith(0)
		return true
	}
	return worked
}

// helpWith moves one block of help i.
func (d *Domain) helpWith(i int) {
	if d.help(d.helps[i]) {
		d.endHelp(i)
	}
}

func (d *Domain) endHelp(i int) {
	last := len(d.helps) - 1
	copy(d.helps[i:], d.helps[i+1:])
	d.helps[last] = nil
	d.helps = d.helps[:last]
}

// claimed reports whether all blocks are.
func (j *helpJob) claimed() bool {
	return atomic.LoadUint64(slotWord(j.mem, j.slot, coopClaims)) >= j.blocks
}

// workForUs goes beyond the first lead transfers if none of those can go on: a
// slow peer delays only its own.
func (d *Domain) workForUs() bool {
	worked, oldest := false, -1
	for i := 0; i < len(d.jobs) && (i < lead || oldest < 0); {
		j := d.jobs[i]
		if j.block == 0 {
			j.start()
		}
		if !j.waiting && (j.front < j.share || j.coop < 0) {
			d.workOn(i)
			return true
		}
		switch over, err := j.atHelper(); {
		case over:
			d.finish(i, err)
			worked = true
			continue
		case !j.waiting && oldest < 0:
			oldest = i
		}
		i++
	}
	if oldest >= 0 {
		d.workOn(oldest)
		return true
	}
	return worked
}

// workOn moves one block of job i.
func (d *Domain) workOn(i int) {
	if over, err := d.jobs[i].step(); over {
		d.finish(i, err)
	}
}

// atHelper checks how far the helper has come with a transfer whose own half is
// moved.
func (j *getJob) atHelper() (over bool, err error) {
	if !j.waiting {
		j.waiting = atomic.LoadUint64(slotWord(j.e.tx.mem, j.coop, coopClaims)) >= uint64(j.blocks)
		if atomic.LoadUint64(slotWord(j.e.tx.mem, j.coop, coopAnswer)) == coopAnswered && !j.waiting {
			j.share = j.blocks // the peer has declined
			j.e.coop.declined()
		}
	}
	if j.waiting {
		return j.awaitHelp()
	}
	return false, nil
}
