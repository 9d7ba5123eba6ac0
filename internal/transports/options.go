package transports

import (
	"os"
	"slices"

	"github.com/weft-mpi/weft/fabric"
)

// options are the settings of a transport in the environment. The variables have
// the names of the options: WEFT_SHM_GET_MIN.
func options(p fabric.Provider) map[string]string {
	set := map[string]string{}
	for _, name := range p.Options() {
		if v := os.Getenv(name); v != "" {
			set[name] = v
		}
	}
	return set
}

// checker is a Provider that checks its options without opening anything.
type checker interface {
	Check(options map[string]string) error
}

// CheckSetting returns an error that names the variable and what it may be, if that
// variable, one of this package or of a transport, has a value that can't be used, or
// nil. It does so for transports too that a job does not use. It is a *NameError for
// WEFT_FABRIC, and a *fabric.Error for a transport's. Local.
func CheckSetting(name string) error { return transports.checkSetting(name) }

func (t table) checkSetting(name string) error {
	value := os.Getenv(name)
	if value == "" {
		return nil
	}
	if name == fabricVar {
		return t.checkName(value)
	}
	for _, tr := range t {
		p := tr.provider(1)
		if c, ok := p.(checker); ok && slices.Contains(p.Options(), name) {
			return c.Check(map[string]string{name: value})
		}
	}
	return nil
}

// checkName returns a *NameError about the name of a fabric in the environment.
func (t table) checkName(name string) error {
	_, err := t.parse(name)
	if wrong, ok := err.(*NameError); ok {
		wrong.Var = fabricVar
	}
	return err
}
