package planning

import (
	"bytes"
	"fmt"
)

// maxText is the largest length of a line of YAML and of a string of JSON, because a parser copies these texts several times. The largest
// object that an API server accepts is less than half as long.
const maxText = 8 << 20

// checkTexts returns an error for a document with a line or string longer than maxText. It is called before the document is parsed.
func checkTexts(data []byte) error {
	longest := longestLine
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		longest = longestText
	}
	if longest(data) > maxText {
		return fmt.Errorf("a line of YAML or a string in JSON is longer than %d bytes", maxText)
	}
	return nil
}

func longestLine(data []byte) int {
	longest := 0
	for line := range bytes.Lines(data) {
		longest = max(longest, len(line))
	}
	return longest
}

// longestText returns the length of the longest quoted string in the data.
func longestText(data []byte) int {
	longest := 0
	for {
		begin := bytes.IndexByte(data, '"')
		if begin < 0 {
			return longest
		}
		data = data[begin+1:]
		length := 0
		for length < len(data) && data[length] != '"' {
			if data[length] == '\\' {
				length++
			}
			length++
		}
		longest = max(longest, length)
		data = data[min(length+1, len(data)):]
	}
}
