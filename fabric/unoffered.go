package fabric

// Packed is a body that is made where it is needed: Pack fills dst with its bytes from the
// one at on. It neither keeps dst nor reads it. Of a long dst it claims the cache lines some
// time before it writes to them: they may be those of the core that has read them.
type Packed interface {
	Pack(dst []byte, at uint64)
}

// Unoffered has the calls of an Endpoint that depend on Caps.Reach, Pack and Write, as they
// are where Caps does not have those. An Endpoint embeds it.
type Unoffered struct{}

func (Unoffered) Reach(Remote) ([]byte, error) { return nil, ErrUnsupported }
func (Unoffered) Knock(bool)                   {}
func (Unoffered) Write(Remote, []byte) error   { return ErrUnsupported }
func (Unoffered) Awake() bool                  { return true }

func (Unoffered) SendPacked(uint8, uint64, []byte, Packed, uint64, int) error {
	return ErrUnsupported
}
