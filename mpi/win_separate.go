package mpi

import (
	"runtime"

	"github.com/weft-mpi/weft/internal/diagnose"
)

// checkModel refuses a memory model that there is not.
func (k *windowMaker) checkModel() error {
	switch {
	case k.model == WinSeparate && k.win.kind == FlavorShared:
		return badArg(k.call, ErrArg, "ranks load and store in each other's parts of a shared window, which is one memory: leave Model out, or take WinAllocate")
	case k.model != 0 && k.model != WinUnified && k.model != WinSeparate:
		return badArg(k.call, ErrArg, "the model is %d: it is WinUnified, WinSeparate, or 0", int(k.model))
	}
	return nil
}

// separate reports whether the window is to have separate memory.
func (k *windowMaker) separate() bool {
	return k.model == WinSeparate || k.model == 0 && k.c.w.apart && k.win.kind != FlavorShared
}

// lineOfProgram is the line of the program that has made the call under way.
func lineOfProgram() string {
	var callers [32]uintptr
	return diagnose.Caller(callers[:runtime.Callers(2, callers[:])])
}
