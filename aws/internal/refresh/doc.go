// Package refresh decides when to read data from AWS again, and reads paginated answers.
//
//	schedule := refresh.Schedule{Every: 12 * time.Hour}
//	for { // in the caller's own loop; nothing here waits
//		if schedule.Due(now) {
//			err := read(ctx)
//			schedule.Done(now, err)
//		}
//		… // come back at schedule.Next()
//	}
//
// A schedule reads no clock and starts nothing: the caller passes the time, so that tests can go through a whole day at once. [Pages] reads
// an answer of many pages. [Turns] prevents callers from sending the same query at the same time.
package refresh
