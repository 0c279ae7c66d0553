package cloudprovider_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/mock"
)

// detecting is a provider with one optional interface.
type detecting struct {
	*mock.MockCloudProvider
	*mock.MockDriftDetector
}

func (d detecting) EXPECT() *mock.MockCloudProviderMockRecorder { return d.MockCloudProvider.EXPECT() }

// timed wraps a provider and can be seen through.
type timed struct{ cloudprovider.CloudProvider }

func (t timed) Unwrap() cloudprovider.CloudProvider { return t.CloudProvider }

// S1-007: optional interfaces are found in the provider or in what it wraps, and only there.
func TestAs(t *testing.T) {
	ctrl := gomock.NewController(t)
	plain := mock.NewMockCloudProvider(ctrl)
	able := detecting{plain, mock.NewMockDriftDetector(ctrl)}
	for _, provider := range []cloudprovider.CloudProvider{able, timed{able}, timed{timed{able}}} {
		if found, ok := cloudprovider.As[cloudprovider.DriftDetector](provider); !ok || found != cloudprovider.DriftDetector(able) {
			t.Errorf("%T: got %v, %v", provider, found, ok)
		}
	}
	for _, provider := range []cloudprovider.CloudProvider{nil, plain, timed{plain}, timed{nil}, able} {
		if found, ok := cloudprovider.As[cloudprovider.InterruptionSource](provider); ok {
			t.Errorf("%T: found %v", provider, found)
		}
	}
}

// The contract's clauses are numbered without gaps, each gives its reason, and no comment cites one that is not there.
func TestContractIsNumbered(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string][]int{}
	cited := map[string]string{}
	statement := regexp.MustCompile(`(?m)^//   - CP-([A-Z]+)-(\d\d): `)
	mention := regexp.MustCompile(`CP-[A-Z]+-\d\d`)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		starts := statement.FindAllSubmatchIndex(text, -1)
		for _, at := range starts {
			number, err := strconv.Atoi(string(text[at[4]:at[5]]))
			if err != nil {
				t.Fatal(err)
			}
			group := string(text[at[2]:at[3]])
			defined[group] = append(defined[group], number)
			body, _, _ := strings.Cut(string(text[at[1]:]), "\n//   - ")
			body, _, _ = strings.Cut(body, "\n//\n")
			if !regexp.MustCompile(`\bWhy:`).MatchString(body) {
				t.Errorf("%s: CP-%s-%02d gives no reason", file.Name(), group, number)
			}
		}
		for _, clause := range mention.FindAllString(string(text), -1) {
			cited[clause] = file.Name()
		}
	}
	for _, group := range []string{"DESCRIBE", "CATALOG", "CREATE", "DELETE", "GET", "LIST", "ERROR", "CONCURRENCY", "DRIFT", "REPAIR", "INTERRUPT", "CLASS", "GATE"} {
		if len(defined[group]) == 0 {
			t.Errorf("no clause CP-%s", group)
		}
	}
	for group, numbers := range defined {
		for i, number := range numbers {
			if number != i+1 {
				t.Errorf("CP-%s is numbered %v", group, numbers)
				break
			}
		}
	}
	for clause, file := range cited {
		group, number := clause[3:len(clause)-3], clause[len(clause)-2:]
		if n, _ := strconv.Atoi(number); !slices.Contains(defined[group], n) {
			t.Errorf("%s cites %s, which is not there", file, clause)
		}
	}
}
