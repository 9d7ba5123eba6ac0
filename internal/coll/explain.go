package coll

import (
	"fmt"
	"strings"
)

// Explained is a rule of Choose in words.
type Explained struct {
	Call      Call
	Between   bool   // between two groups
	Algorithm string // its name
	When      string // which shapes it is for: "" for all that no rule above it takes
	Why       string
}

// Rules tells how Choose chooses: the rules of each call in the order in which they
// are tried. The first that applies decides. The caller owns the list.
func Rules() (all []Explained) {
	for call := Call(1); int(call) < len(rules); call++ {
		for _, r := range rules[call] {
			e := Explained{Call: call, Between: r.Fits(&Shape{Size: 2, Remote: 2}), Algorithm: r.Name, Why: reasons[r.Algorithm].why}
			var when []string
			if r.ranks > 0 {
				when = append(when, fmt.Sprintf("from %d ranks on", r.ranks))
			}
			if r.bytes > 0 {
				what := "blocks of "
				if !call.Blocks() {
					what = ""
				}
				when = append(when, fmt.Sprintf("%sup to %d bytes", what, r.bytes))
			}
			if only := reasons[r.Algorithm].only; only != "" {
				when = append(when, only)
			}
			e.When = strings.Join(when, ", ")
			all = append(all, e)
		}
	}
	return all
}

// reason is why there is an algorithm, and which shapes of its side it is for.
type reason struct{ why, only string }

var reasons = map[*Algorithm]reason{
	&barrierDissemination:  {why: "log n rounds, and no rank waits for a root; between ranks that reach one another's memory flags take its place"},
	&bcastBinomial:         {why: "log n messages in a row from the root to the last rank"},
	&gatherBinomial:        {why: "log n messages in a row; short blocks cost little on the way up the tree"},
	&gatherLinear:          {why: "each byte moves once, straight to its place at the root"},
	&scatterBinomial:       {why: "log n messages in a row; short blocks cost little on the way down the tree"},
	&scatterLinear:         {why: "each byte moves once, straight from its place at the root"},
	&allgatherRD:           {why: "log n messages in a row", only: "a power of two of ranks"},
	&allgatherRing:         {why: "each rank sends to one neighbour and receives from one, each byte once"},
	&alltoallLinear:        {why: "no rank waits for another one's round", only: "not in place"},
	&alltoallPairwise:      {why: "each round has one message to a rank and one from a rank, so that none is flooded", only: "not in place"},
	&alltoallInPlace:       {why: "two ranks swap their blocks at a time, with memory for one block", only: "in place"},
	&neighborsGather:       {why: "a message for each edge, all under way at once"},
	&neighborsExchange:     {why: "a message for each edge, all under way at once"},
	&reduceBinomial:        {why: "log n messages in a row, and operands in the order of ranks"},
	&allreduceRD:           {why: "log n exchanges in a row, and the same bits at all ranks"},
	&allreduceHalving:      {why: "each rank combines an operand once, and gets the rest combined"},
	&reduceScatterTree:     {why: "fewer messages in a row than pairwise, and more bytes"},
	&reduceScatterPairwise: {why: "each rank sends and combines only what the others need of it"},
	&scanDoubling:          {why: "log n messages in a row"},
	&exscan123:             {why: "one round and one operation fewer than doubling"},
	&interBarrier:          {why: "one message between the groups each way"},
	&interBcast:            {why: "one message between the groups"},
	&interGather:           {why: "each byte moves once, straight to its place at the root"},
	&interScatter:          {why: "each byte moves once, straight from its place at the root"},
	&interAllgather:        {why: "each block crosses between the groups once"},
	&interAlltoall:         {why: "each round has one message to a rank and one from a rank, so that none is flooded"},
	&interReduce:           {why: "one result crosses between the groups"},
	&interAllreduce:        {why: "one result crosses between the groups each way"},
	&interReduceScatter:    {why: "one result crosses between the groups each way"},
}
