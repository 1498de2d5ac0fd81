# kw_embed_texts(target function pattern)
#
# Compiles text files that people read and edit into `target`: a generated source defines
# `std::span<const kw::EmbeddedText> kw::function()` (target/embedded_texts.hpp), one entry per file, named by the file
# without its extension. A changed file is compiled in by the next build.
function(kw_embed_texts target function pattern)
  file(GLOB files CONFIGURE_DEPENDS ${pattern})
  set(KW_FUNCTION ${function})
  set(KW_ENTRIES "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND KW_ENTRIES "      EmbeddedText{\"${name}\", R\"kw_text(${text})kw_text\"},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_texts.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
endfunction()
