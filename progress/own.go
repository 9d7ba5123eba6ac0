package progress

import "sync/atomic"

// ownership is the word that makes a goroutine the owner of a loop. No goroutine
// waits for it.
type ownership struct{ word uint32 }

// take makes the caller the owner if there is none.
func (o *ownership) take() bool { return atomic.CompareAndSwapUint32(&o.word, 0, 1) }

// give ends the ownership. Pairs with take: the next owner sees everything that
// this one did. It is a full barrier: letGo loads the queue behind it.
func (o *ownership) give() { atomic.StoreUint32(&o.word, 0) }
