package verbs_test

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric/verbs"
)

// What keeps this machine's RDMA devices from use, or which address Weft takes.
func ExampleDevices() {
	devices, err := verbs.Devices()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range devices {
		for _, p := range d.Ports {
			switch {
			case d.Problem != nil:
				fmt.Println(d.Name, d.Problem)
			case p.Problem != nil:
				fmt.Println(d.Name, p.Problem)
			default:
				fmt.Println(d.Name, p.Number, p.GIDs[p.Chosen].Address.Unmap())
			}
		}
	}
}
