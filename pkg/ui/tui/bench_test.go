package tui

import "testing"

func BenchmarkX(b *testing.B) {
	f := lost()
	for i := range 1000 {
		g := group(i % 12)
		f.Groups.Items = append(f.Groups.Items, g)
	}
	m := shown(b, 200, 60, Options{Color: true}, entry(f))
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			_ = m.View()
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			m = pressed(m, "j")
		}
	})
}
