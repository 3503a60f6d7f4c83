#pragma once

#include <memory>
#include <string>

namespace headscope::app {

/// Pictures on the clipboard of an X11 desktop, as image/png (ICCCM, chapter 2). ImGui and GLFW support only
/// text. For the thread that created it; a separate thread answers the programs that paste.
class PictureClipboard {
public:
    PictureClipboard();
    ~PictureClipboard(); ///< removes the picture, like that of any program that ends
    PictureClipboard(const PictureClipboard&) = delete;
    PictureClipboard& operator=(const PictureClipboard&) = delete;

    /// Offers the bytes of a PNG for pasting, until something else is copied. Throws Error(machine) if there
    /// is no X server, and Error(input) for a picture larger than the server accepts at once (usually 16 MB).
    void offer(std::string png);

private:
    class Owner;
    std::unique_ptr<Owner> owner_;
};

} // namespace headscope::app
