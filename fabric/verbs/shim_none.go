//go:build !cgo || !linux

package verbs

import "errors"

var errNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0)")

func loadLibrary() error                                       { return errNoCgo }
func queryLibrary(device string, port int) (attributes, error) { return attributes{}, errNoCgo }
func openLibrary(nicOptions) (nic, error)                      { return nil, errNoCgo }
