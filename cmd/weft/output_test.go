package main

import (
	"strings"
	"sync"
)

// lineCounter keeps what is printed while another goroutine reads it.
type lineCounter struct {
	mu sync.Mutex
	b  strings.Builder
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *lineCounter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// tables is the number of tables of weft top.
func (c *lineCounter) tables() int { return strings.Count(c.String(), "waits for\n") }
