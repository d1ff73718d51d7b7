package run

import (
	"slices"

	"github.com/spf13/pflag"
)

// flagNames returns the names of the flags that were typed.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// valuesOf returns the words that set a flag to its value.
func valuesOf(f *pflag.Flag) []string {
	values := []string{f.Value.String()}
	if list, is := f.Value.(pflag.SliceValue); is {
		values = list.GetSlice()
	}
	var words []string
	for _, value := range values {
		words = append(words, "--"+f.Name+"="+value)
	}
	return words
}
