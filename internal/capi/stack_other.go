//go:build !amd64 && !arm64

package capi

func roomForHandlers() {}
