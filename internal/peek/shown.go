package peek

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/weft-mpi/weft/internal/strangers"
)

// shown returns a body whose text may be printed, whoever has sent it: each is one line. A
// body that is nothing but text has lines of its own.
func shown(body []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err == io.EOF {
		return nil, errors.New("there is none")
	} else if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		return json.Marshal(strangers.Lines(text))
	}
	return json.Marshal(lines(v))
}

// lines makes a line of each text in a value.
func lines(v any) any {
	switch v := v.(type) {
	case string:
		return strangers.Line(v)
	case []any:
		for i := range v {
			v[i] = lines(v[i])
		}
	case map[string]any:
		shown := make(map[string]any, len(v))
		for name, x := range v {
			shown[strangers.Line(name)] = lines(x)
		}
		return shown
	}
	return v
}
