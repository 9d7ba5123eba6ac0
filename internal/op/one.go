package op

// Int, Float and Complex combine two elements as the Funcs of a predefined operator
// do, bit by bit, but for the NaNs of Sum and Prod. lower is the element in the
// window. They are for elements that a Func can't reach, as an atomic operation is
// to store the result. An operator that does not fit the elements gives lower.

// Int combines two integers. Bools are taken as uint8.
func Int[T integer](c Code, lower, upper T) T {
	switch c {
	case CodeSum:
		return lower + upper
	case CodeProd:
		return lower * upper
	case CodeMax:
		return max(lower, upper)
	case CodeMin:
		return min(lower, upper)
	case CodeLAnd:
		return whether[T](lower != 0 && upper != 0)
	case CodeLOr:
		return whether[T](lower|upper != 0)
	case CodeLXor:
		return whether[T]((lower != 0) != (upper != 0))
	case CodeBAnd:
		return lower & upper
	case CodeBOr:
		return lower | upper
	case CodeBXor:
		return lower ^ upper
	case CodeReplace:
		return upper
	}
	return lower
}

func whether[T integer](is bool) T {
	if is {
		return 1
	}
	return 0
}

// Float combines two floating-point numbers.
func Float[T float](c Code, lower, upper T) T {
	switch c {
	case CodeSum:
		return lower + upper
	case CodeProd:
		return lower * upper
	case CodeMax:
		return canonical(max(lower, upper))
	case CodeMin:
		return canonical(min(lower, upper))
	case CodeReplace:
		return upper
	}
	return lower
}

// Complex combines two complex numbers.
func Complex[T complex64 | complex128](c Code, lower, upper T) T {
	switch c {
	case CodeSum:
		return lower + upper
	case CodeProd:
		return T(product(complex128(lower), complex128(upper)))
	case CodeReplace:
		return upper
	}
	return lower
}
