# kw_link_included_layers(target file...)
#
# For programs outside src/ (fuzz targets, benchmarks): links the layers whose headers the files include, so that
# adding a program is adding a file.
function(kw_link_included_layers target)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(STRINGS ${file} lines REGEX "^#include \"[a-z_]+/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([a-z_]+)/.*" "\\1" layer "${line}")
      if(TARGET kw_${layer})
        target_link_libraries(${target} PRIVATE kw_${layer})
      endif()
    endforeach()
  endforeach()
endfunction()
