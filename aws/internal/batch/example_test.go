package batch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/internal/batch"
)

func Example() {
	upper := batch.New(batch.Options[string, string]{
		Name: "upper",
		Idle: 20 * time.Millisecond, Max: time.Second, MaxItems: 3,
		Do: func(_ context.Context, words []string) []batch.Answer[string] {
			fmt.Println("one call for", len(words))
			answers := make([]batch.Answer[string], len(words))
			for i, word := range words {
				answers[i].Value = strings.ToUpper(word)
			}
			return answers
		},
	})
	var callers sync.WaitGroup
	answers := make([]string, 3)
	for i, word := range []string{"oak", "ash", "elm"} {
		callers.Go(func() { answers[i], _ = upper.Call(context.Background(), word) })
	}
	callers.Wait()
	fmt.Println(answers)
	// Output:
	// one call for 3
	// [OAK ASH ELM]
}
