package verbs

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// asyncEvents takes the asynchronous events of a port until the domain closes.
func (d *Domain) asyncEvents(port int, n hca, f *os.File, raw syscall.RawConn) {
	defer f.Close()
	var grace *time.Timer
	defer func() {
		if grace != nil {
			grace.Stop()
		}
	}()
	for {
		var ev ibv.Event
		err := raw.Read(func(uintptr) bool {
			var ok bool
			ev, ok = n.AsyncEvent()
			return ok
		})
		if err != nil {
			return
		}
		switch ev.Kind {
		case ibv.EventQP:
			d.post(event{port: port, qpn: ev.QPNum, err: fmt.Errorf("the device reports %s", ev.Name)})
		case ibv.EventDevice:
			d.post(event{port: port, all: true, err: fmt.Errorf("the device reports %s", ev.Name)})
		case ibv.EventPortDown:
			d.cfg.Log.Warn("verbs: the port is down", "device", d.infoAt(port).device, "event", ev.Name)
			if grace != nil {
				grace.Stop() // else this one outlives the next event
			}
			grace = time.AfterFunc(portGrace, func() {
				p := d.infoAt(port)
				d.post(event{port: port, all: true, err: fmt.Errorf("port %d of %s is down", p.number, p.device)})
			})
		case ibv.EventPortUp:
			if grace != nil {
				grace.Stop()
			}
		default:
			d.cfg.Log.Debug("verbs: device event", "event", ev.Name)
		}
	}
}
