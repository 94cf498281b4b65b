-- Health of a DataVolume of cdi.kubevirt.io for Argo CD.
-- One that waits for its first consumer is healthy: its VM comes in a later sync wave, or is stopped.

local healthy = { Succeeded = true, WaitForFirstConsumer = true, PendingPopulation = true }

if obj.status == nil or obj.status.phase == nil then
  return { status = "Progressing", message = "waiting for CDI" }
end

local phase = obj.status.phase
if healthy[phase] then
  return { status = "Healthy", message = phase }
end
if phase == "Failed" or phase == "Unknown" then
  return { status = "Degraded", message = phase }
end
if phase == "Paused" then
  return { status = "Suspended", message = phase }
end
return { status = "Progressing", message = phase .. " " .. (obj.status.progress or "") }
