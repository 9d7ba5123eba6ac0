package osufmt

import "slices"

// Collector keeps tables instead of printing them, for output as JSON. The zero
// value is ready. Not safe for concurrent use.
type Collector struct {
	title    Title
	sections []Section
	lines    []string
}

// Title keeps the head of a benchmark's output.
func (c *Collector) Title(t Title) error {
	c.title = t
	return nil
}

// Section starts a section; it ignores s.Rows.
func (c *Collector) Section(s Section) error {
	s.Rows = nil
	c.sections = append(c.sections, s)
	return nil
}

// Row adds a row to the last section.
func (c *Collector) Row(r Row) error {
	s := &c.sections[len(c.sections)-1]
	s.Rows = append(s.Rows, Row{Size: r.Size, Values: slices.Clone(r.Values)})
	return nil
}

// Line keeps a line that belongs to no table.
func (c *Collector) Line(s string) error {
	c.lines = append(c.lines, s)
	return nil
}

// Lines returns the lines that Line has kept.
func (c *Collector) Lines() []string { return c.lines }

// Objects returns every row as an object for JSON: the columns' keys, "size"
// (or the lower-case name of the first column) and "datatype" where the tables
// have them. Validation is a boolean.
func (c *Collector) Objects() []map[string]any {
	rows := []map[string]any{}
	for i := range c.sections {
		rows = append(rows, c.sections[i].objects()...)
	}
	return rows
}

func (s *Section) objects() []map[string]any {
	var rows []map[string]any
	for _, r := range s.Rows {
		o := make(map[string]any, len(r.Values)+2)
		if s.Datatype != "" {
			o["datatype"] = s.Datatype
		}
		if !s.NoSize {
			o[Key(s.FirstName())] = r.Size
		}
		for i, col := range s.Columns {
			switch col.Kind {
			case PassFail:
				o[col.Key] = r.Values[i] == 0
			case Integer, Bytes:
				o[col.Key] = int64(r.Values[i])
			default:
				o[col.Key] = r.Values[i]
			}
		}
		rows = append(rows, o)
	}
	return rows
}

// Sections returns the tables with their rows, which the caller does not change.
func (c *Collector) Sections() []Section { return c.sections }
