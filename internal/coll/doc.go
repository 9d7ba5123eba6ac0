// Package coll has the schedules of collective calls (MPI-4.0 chapter 6) as data:
// what each rank sends, receives and reduces, in which order (Plan). Choose picks
// an Algorithm for a call by the number of ranks and bytes, and Make has it make
// the plan of one rank from the arguments that it shares with the others (Shape).
//
// select.go has the rules: the first one of a call that fits is taken.
//
//	call                within a group                                    between two groups
//	Barrier             dissemination                                     up a tree, rank 0 to rank 0, down a tree
//	Bcast               binomial tree                                     the root to rank 0, which has a tree
//	Gather, Scatter     binomial tree up to 2 KB a block, else linear     linear
//	Gatherv, Scatterv   linear                                            linear
//	Allgather           recursive doubling for a power of two of ranks,   each block to one rank, then ring
//	                    up to 64 KB a block; else ring
//	Allgatherv          ring                                              the same
//	Alltoall            linear from 3 ranks on up to 2 KB a block, else   pairwise
//	                    pairwise; in place pairs swap
//	Alltoallv, -w       pairwise; in place pairs swap                     pairwise
//	Reduce              binomial tree                                     a tree to rank 0, which sends to the root
//	Allreduce           recursive doubling up to 32 KB, else halving      trees to both ranks 0, which exchange, and down
//	                    and doubling
//	ReduceScatterBlock  from 5 ranks on up to 256 bytes a block reduce,   as Allreduce, with a scatter
//	                    then scatter; else pairwise
//	ReduceScatter       the same, up to 2 KB of the vector                the same
//	Scan                doubling                                          none
//	Exscan              123-doubling                                      none
//
// Every algorithm has the operands in the order of ranks, but for a Reduce that may swap
// them: then the tree's root is the call's, and otherwise rank 0, which sends to the root.
// In an Allreduce all ranks compute the same expression. A message goes straight to its
// place in Out, and so does the first operand to arrive, so that an Allreduce of two ranks
// needs no temporary memory. Ranks that know that a block is empty neither send nor receive
// it. What messages and operators use of memory with gaps is taken out of a plan in the end
// (gaps.go), unless messages of it are long, which changes no message.
//
// The package does no I/O: package comm executes plans, blocking or not. The tests run the plans of all ranks in one
// goroutine, with expressions for values and no buffer between ranks, and check
// that every rank gets what MPI says:
//
//	go test ./internal/coll -run Symbolic
//	go test ./internal/coll -run Symbolic -full -timeout 2h
package coll
