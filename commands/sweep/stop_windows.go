package sweep

import "os"

// stopSignal ends the process of a shard: Windows can't ask it to end.
func stopSignal() os.Signal { return os.Kill }
