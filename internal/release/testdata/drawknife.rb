class Drawknife < Formula
  desc "Plan the nodes of a Kubernetes cluster, explain and compare their costs"
  homepage "https://github.com/drawknife/drawknife"
  version "1.2.3"
  license "Apache-2.0"

  on_linux do
    on_intel do
      url "https://github.com/drawknife/drawknife/releases/download/v1.2.3/drawknife_v1.2.3_linux_amd64.tar.gz"
      sha256 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/drawknife/drawknife/releases/download/v1.2.3/drawknife_v1.2.3_linux_arm64.tar.gz"
      sha256 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    end
  end

  on_macos do
    on_intel do
      url "https://github.com/drawknife/drawknife/releases/download/v1.2.3/drawknife_v1.2.3_darwin_amd64.tar.gz"
      sha256 "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
    end
  end

  on_macos do
    on_arm do
      url "https://github.com/drawknife/drawknife/releases/download/v1.2.3/drawknife_v1.2.3_darwin_arm64.tar.gz"
      sha256 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    end
  end

  def install
    bin.install "drawknife"
    bin.install_symlink "drawknife" => "kubectl-drawknife"
    generate_completions_from_executable(bin/"drawknife", "completion")
  end

  test do
    assert_match "drawknife", shell_output("#{bin}/drawknife version")
  end
end
