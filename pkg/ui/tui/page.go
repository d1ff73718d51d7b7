package tui

// page is what a view shows: a sentence, a table, and notes below it.
type page struct {
	// says is the view's answer in one line.
	says    line
	columns []column
	rows    []row
	notes   []line
	// empty is what to say when there are no rows.
	empty string
}

// view is one of the numbered views.
type view struct {
	name  string
	title string
	make  func(s sight) page
}

// views are the views by their number keys, from 1.
func views() []view {
	return []view{
		{"groups", "process groups", groupsPage},
	}
}
