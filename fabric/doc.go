// Package fabric is the contract that every transport of Weft meets: how a
// rank opens a transport (Provider), reaches its peers (Domain, Endpoint) and
// hears from them (Handler).
//
// It is written for the two sides of the contract: authors of transports, who
// implement Provider, Domain and Endpoint and prove it with fabrictest, and
// the engine in package progress, which drives them. It imports nothing of
// Weft and holds no transport.
//
// # Ownership of a domain
//
// Open, Register, Deregister, Wait, Wake and Close are safe for concurrent
// use. Everything else on a Domain, and everything on its Endpoints, is called
// by one goroutine at a time: the owner of the progress loop. Transports put
// no locks on that path.
package fabric
