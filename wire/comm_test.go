package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/wire"
)

func TestAnAbortHasItsGoldenBytes(t *testing.T) {
	h := wire.MakeAbort(make([]byte, fabric.MaxHeader), 0x01020304, 0x11121314)
	if got, want := hex.EncodeToString(h), "0403020114131211"; got != want {
		t.Errorf("bytes %s, want %s", got, want)
	}
	if !h.Valid() || h.Code() != 0x01020304 || h.Call() != 0x11121314 {
		t.Errorf("%t, code %#x, call %#x", h.Valid(), h.Code(), h.Call())
	}
	if got, want := wire.Abort, uint8(0xd0); got != want {
		t.Errorf("the kind is %#x, want %#x", got, want)
	}
	for _, bad := range [][]byte{nil, h[:7], append(h[:8:8], 0), {0, 0, 0, 0x80, 0, 0, 0, 0}} {
		if wire.AbortHeader(bad).Valid() {
			t.Errorf("%x is valid", bad)
		}
	}
}
