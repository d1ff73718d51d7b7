// Package stable sorts slices of structs.
package stable

import "slices"

// Sort sorts s stably: elements that compare as equal keep their order.
//
// It is [slices.SortStableFunc] on the positions of the elements. The latter is compiled once more for
// every type of struct, and those copies were a hundredth of the program. One that holds
// pointers, numbers or strings is sorted by package slices.
func Sort[T any](s []T, compare func(a, b T) int) {
	at := make([]int, len(s))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return compare(s[a], s[b]) })
	sorted := make([]T, len(s))
	for i, from := range at {
		sorted[i] = s[from]
	}
	copy(s, sorted)
}
