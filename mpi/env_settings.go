package mpi

import (
	"errors"
	"fmt"
	"os"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/setting"
	"github.com/weft-mpi/weft/internal/transports"
	"github.com/weft-mpi/weft/mpi/cause"
)

// Setting is a setting of Weft with its value in this process: a variable of the
// environment, an Option, or both. docs/configuration.md describes them all.
type Setting struct {
	Variable string // its name, "WEFT_FABRIC", or "" where there is an option only
	Option   string // the function of this package that sets the same, "WithFabric", or ""
	Values   string // what the variable takes, "0|1" or in words
	Value    string // in effect
	Origin   Origin // of Value
	What     string // what it is about, in a line
	Err      error  // why Value can't be used, or why there was no measurement
}

// Origin says where the value of a Setting is from: FromOption, FromEnvironment,
// FromMeasurement or FromDefault. An option wins over the environment, and the
// environment over the other two.
type Origin string

const (
	FromOption      Origin = "option"
	FromEnvironment Origin = "environment"
	FromMeasurement Origin = "measured"
	FromDefault     Origin = "default"
)

// Settings lists every setting that a user has, with the value that a World made with
// these options would use in this process and where that is from. For the length from
// which messages are read from their sender's memory it may measure for some
// milliseconds, as Init does. The caller owns the list. Local.
func Settings(opts ...Option) []Setting {
	o := options{fabric: transports.Auto, limits: DefaultLimits}
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	var all []Setting
	for _, s := range setting.List(setting.User) {
		one := Setting{Variable: s.Name, Option: s.Option, Values: s.Values, Value: s.Default, Origin: FromDefault, What: s.What}
		env := ""
		if s.Name != "" {
			env = os.Getenv(s.Name)
		}
		given, is := o.given(s.Option)
		switch {
		case is:
			one.Value, one.Origin = given, FromOption
		case env != "":
			one.Value, one.Origin, one.Err = env, FromEnvironment, checkVariable(s.Name)
		case s.Name == getMinVar:
			one.measure()
		}
		all = append(all, one)
	}
	return all
}

// measure is the value of WEFT_SHM_GET_MIN where nobody has set it.
func (s *Setting) measure() {
	t, err := transports.SharedThreshold()
	switch {
	case err != nil:
		s.Err = err
	case t.Measured:
		s.Value, s.Origin = fmt.Sprint(t.Bytes), FromMeasurement
	default:
		s.Value, s.Err = fmt.Sprint(t.Bytes), t.Err
	}
}

// given is the value that the program has set by the option of that name, and whether
// it has.
func (o *options) given(option string) (value string, is bool) {
	switch option {
	case "WithFabric":
		return o.fabric, o.fabric != transports.Auto
	case "WithChecks":
		return "coll", o.checks
	case "WithoutPeek":
		return "0", o.noPeek
	case "WithTrace":
		return o.trace, o.trace != ""
	case "WithWindowChecks":
		return "win", o.separate
	case "WithTypeChecks":
		return "types", o.signs
	case "WithLimits":
		l := o.limits
		return fmt.Sprintf("%d bytes or %d messages of one peer, %d bytes or %d messages of all, %v", l.PeerBytes, l.PeerMessages, l.Bytes, l.Messages, l.Stall), l != DefaultLimits
	case "WithWatchdog":
		return "after " + o.watch.String(), o.watch != 0
	case "WithoutProgressThread":
		return "no progress thread", o.noThread
	case "WithLockedThreads":
		return "locked", o.locked
	case "WithLateReceives":
		return "of a layer above", o.late.Start != nil
	case "WithoutSIGQUIT":
		return "no report", o.noSignal
	case "WithLogger":
		return "the program's", o.log != nil
	}
	return "", false
}

// CheckEnvironment returns the error with which Init, Run and NewSession would refuse
// this process's environment, or nil: about the first variable whose name begins with
// WEFT_ and is none of Weft's, with the nearest one, or whose value can't be used, with
// what it may be. The error has an EnvError or a FabricError and is ErrOther, or names
// the fabrics and is ErrArg. It says nothing about devices and interfaces that a
// variable names and the machine does not have. Local.
func CheckEnvironment() error { return fail("CheckEnvironment", checkEnvironment()) }

func checkEnvironment() error {
	err := setting.Unknown(os.Environ())
	if unknown, ok := errors.AsType[*setting.UnknownError](err); ok {
		return &cause.EnvError{Var: unknown.Name, Value: unknown.Value, Err: errors.New("there is no such variable of Weft"), Remedy: unknown.Remedy()}
	}
	for _, s := range setting.List(setting.User) {
		if err := checkVariable(s.Name); err != nil {
			return err
		}
	}
	return nil
}

// checkVariable returns an error if a variable has a value that can't be used.
func checkVariable(name string) error {
	switch name {
	case "":
		return nil
	case bootVar:
		return launch.CheckEnviron()
	case checkVar:
		return new(options).lookUpChecks()
	case traceVar, traceSpansVar:
		return new(options).lookUpTrace()
	case peekVar:
		return new(options).lookUpPeek()
	}
	return transports.CheckSetting(name)
}

// Variables that are not like the others: package launch reads one, and the other is
// measured.
const (
	bootVar   = "WEFT_BOOT"
	getMinVar = "WEFT_SHM_GET_MIN"
)
