; Calls of functions that few programs need: they lie in modules of their own, which are compiled by the first such call (later.py).

@later_along = global ptr null  ; where it begins, once it is there
@m_along = global ptr null      ; what compiles its module

; Where such a function begins, after its module is compiled; null where it cannot be.
define internal ptr @compiled(ptr %place, ptr %module) {
entry:
  %load = load ptr, ptr %module
  %loaded = call ptr @PyObject_Vectorcall(ptr %load, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %loaded, null
  br i1 %failed, label %clear, label %drop
clear:
  call void @PyErr_Clear()
  br label %done
drop:
  call void @Py_DecRef(ptr %loaded)
  br label %done
done:
  %there = load ptr, ptr %place
  ret ptr %there
}

define internal ptr @later(ptr %place, ptr %module) alwaysinline {
entry:
  %known = load ptr, ptr %place
  %is = icmp ne ptr %known, null
  br i1 %is, label %done, label %ask
ask:
  %made = call ptr @compiled(ptr %place, ptr %module)
  br label %done
done:
  %there = phi ptr [%known, %entry], [%made, %ask]
  ret ptr %there
}

define ptr @along_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %gate = call ptr @later(ptr @later_along, ptr @m_along)
  %none = icmp eq ptr %gate, null
  br i1 %none, label %under, label %go
go:
  %made = tail call ptr %gate(ptr %self, ptr %args, i64 %n, ptr %names)
  ret ptr %made
under:
  %g = call ptr @at(ptr %self, i64 16)
  %beneath = call ptr @pointer(ptr %g, i64 0)
  %passed = call ptr @PyObject_Vectorcall(ptr %beneath, ptr %args, i64 %n, ptr %names)
  ret ptr %passed
}
