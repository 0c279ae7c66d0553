package conversion

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/internal/quantities"
)

// stored are quantities that are out of bounds: too long, or with an exponent so large that to read them takes minutes. Older
// definitions let them in. They pass through a conversion as they are: an object that can't be converted would keep the API
// server from listing all others.
type stored struct {
	// standIns are the numbers that the object has in their places, and texts the quantities.
	standIns, texts []string
}

// setAside returns the object, of the type, with a number in the place of each quantity that is out of bounds. What no
// definition lets in is left to be refused.
func setAside(object []byte, of reflect.Type) ([]byte, stored) {
	var s stored
	found := quantities.Find(object, of)
	if len(found) == 0 {
		return object, s
	}
	next := int64(8_100_000_000_000_001) // not a multiple of 1,000, which would get a suffix
	var out []byte
	from := 0
	for _, f := range found {
		text := strings.Trim(string(object[f.Start:f.End]), `"`)
		if strings.Trim(text, "0123456789+-.eE") != "" {
			continue
		}
		for bytes.Contains(object, strconv.AppendInt(nil, next, 10)) || next%10 == 0 {
			next++
		}
		standIn := strconv.FormatInt(next, 10)
		next++
		s.standIns, s.texts = append(s.standIns, standIn), append(s.texts, text)
		out = append(append(out, object[from:f.Start]...), `"`+standIn+`"`...)
		from = f.End
	}
	return append(out, object[from:]...), s
}

// putBack returns the object with the quantities that were set aside.
func (s stored) putBack(object []byte) []byte {
	for i, standIn := range s.standIns {
		object = bytes.ReplaceAll(object, []byte(standIn), []byte(s.texts[i]))
	}
	return object
}
