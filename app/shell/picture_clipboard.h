#pragma once

#include <memory>
#include <string>

namespace headscope::app {

/// Pictures on the clipboard of an X11 desktop, as image/png (ICCCM, chapter 2). ImGui and GLFW put texts
/// there alone. For the thread that made it; a thread of its own answers the programs that paste.
class PictureClipboard {
public:
    PictureClipboard();
    ~PictureClipboard(); ///< the picture is gone then, as any that a program leaves behind
    PictureClipboard(const PictureClipboard&) = delete;
    PictureClipboard& operator=(const PictureClipboard&) = delete;

    /// The bytes of a PNG become what is pasted, until something else is copied. Throws Error(machine) where
    /// there is no X server, and Error(input) for a picture larger than the server takes at once (mostly 16
    /// MB).
    void offer(std::string png);

private:
    class Owner;
    std::unique_ptr<Owner> owner_;
};

} // namespace headscope::app
