package capi

// predefine gives the objects that are there from the start their handles.
func predefine() {
	predefineTypes()
	predefineOps()
}
