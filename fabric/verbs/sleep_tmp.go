package verbs

import (
	"time"

	"github.com/weft-mpi/weft/fabric"
)

func (d *Domain) Sleep(timeout time.Duration) error { return fabric.ErrUnsupported }
