package datatype

import "slices"

// Struct is a list of blocks: lens[i] elements of types[i], disps[i] bytes from the
// origin (MPI_Type_create_struct, MPI-4.0 §5.1.2). The lists are copied.
func Struct(lens, disps []int, types []*Type) (*Type, error) {
	const c = call("Struct")
	err := first(c.counts(1, "lens", lens), c.equallyLong(2, "disps", len(disps), "lens", len(lens)),
		c.equallyLong(3, "types", len(types), "lens", len(lens)))
	if err != nil {
		return nil, err
	}
	if i := slices.Index(types, nil); i >= 0 {
		return nil, c.badItem(3, "types", i, ErrNilType)
	}
	var k checked
	var m marks
	var parts []place
	for i, t := range types {
		l := lens[i]
		if l == 0 {
			continue
		}
		extent := t.ub - t.lb
		block := k.rep(l, extent, t.place)
		inBlock := k.mul(l-1, extent)
		if err := k.err(); err != nil {
			return nil, c.badItemValue(1, "lens", i, l, err)
		}
		parts = append(parts, k.shifted(block, disps[i]))
		m.put(&k, t, k.add(disps[i], min(0, inBlock)), k.add(disps[i], max(0, inBlock)))
		if k.over {
			return nil, c.badItemValue(2, "disps", i, disps[i], ErrTooLarge)
		}
	}
	p := k.seq(parts)
	return k.newType(c, 3, "types", p, m.bounds(&k),
		&args{CombinerStruct, list(len(lens), lens), slices.Clone(disps), slices.Clone(types)})
}
