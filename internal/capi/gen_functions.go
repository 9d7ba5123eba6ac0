package capi
var functions = [...]func(*Args) error{0: send}
