// Package pin is the memory that a rank has registered with its adapters: regions,
// the cache of those that nobody holds, the allocations of an arena, the keys that
// peers are given, and the checks of keys that peers give.
//
// A device reaches memory of a rank over a queue pair, by a registration of the
// same protection domain. To end either is enough. So where the device refuses to
// end a registration, its memory is given to nobody else; where it refuses to
// destroy a queue pair, KeepNone lets no registration outlive its holder any more.
//
// It serves fabric/verbs, and imports fabric and fabric/verbs/internal/ibv.
package pin
