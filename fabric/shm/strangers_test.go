package shm

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// What anybody can say any number of times is in the log once a minute at most.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	var log records
	begin := time.Now()
	d, err := open(fabric.Config{Size: 2, Job: "job", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		s := call(t, d)
		s.conn.Write(make([]byte, 80))
		if _, err := s.answer(); err == nil {
			t.Error("garbage is answered")
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, most := strings.Count(log.String(), "a connection was refused"), 1+int(time.Since(begin)/time.Minute); n < 1 || n > most {
		t.Errorf("%d lines, %d at most:\n%s", n, most, log.String())
	}
}
