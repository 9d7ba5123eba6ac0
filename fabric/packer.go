package fabric

// Packed is a body that is made where it is needed: Pack fills dst with its bytes from the
// one at on. It neither keeps dst nor reads it. Of a long dst it claims the cache lines some
// time before it writes to them: they may be those of the core that has read them.
type Packed interface {
	Pack(dst []byte, at uint64)
}

// Packer is an Endpoint that has a body packed into the memory that it sends from, which
// saves a copy. A transport offers it for all endpoints of a domain or for none. A wrapper
// that embeds an Endpoint does not offer it.
type Packer interface {
	Endpoint

	// SendPacked is Send with n bytes of body as the message's body, from the one at on: more
	// than none, at most MaxEager. body has packed nothing if it returns an error, and is not
	// used after its return.
	SendPacked(kind uint8, imm uint64, hdr []byte, body Packed, at uint64, n int) error
}
