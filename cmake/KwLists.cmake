# kw_link_lists(target list...)
#
# Links the product's lists into a program: operators, languages, gates, proposers (src/catalogue/NAME.cpp). Lower folders
# declare what a list is, and each program defines it. The lists are object files, because a static library would have to
# stand before and behind the folders that ask for the lists. A test program with a list of its own leaves that one out.
function(kw_link_lists target)
  list(TRANSFORM ARGN PREPEND kw_list_)
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()
