package op

// truth is 1 for a true element. Without a branch, as the operands may be random.
func truth[T unsigned](x T) T {
	if x != 0 {
		return 1
	}
	return 0
}

func land[T unsigned](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = truth(a[i]) & truth(b[i])
	}
}

func lor[T unsigned](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = truth(a[i] | b[i])
	}
}

func lxor[T unsigned](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = truth(a[i]) ^ truth(b[i])
	}
}
