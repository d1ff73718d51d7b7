// Package admission finds out by facts which rule of a namespace does not accept an object: its ResourceQuotas, its
// LimitRanges, its Pod Security level, or something else. The API server returns one code for all of them, and text.
package admission
